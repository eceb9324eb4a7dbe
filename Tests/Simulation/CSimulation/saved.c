// The model of the files goes from one process to the next: saved and loaded by the same functions.

#include "durable.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *stream;
static bool loads;

static void begin(int descriptor, const char *mode) {
    loads = *mode == 'r';
    stream = fdopen(dup(descriptor), mode);
    if (!stream) {
        perror("the file with the saved model");
        abort();
    }
}

static void transfer(void *bytes, size_t size) {
    if (size && (loads ? fread(bytes, size, 1, stream) : fwrite(bytes, size, 1, stream)) != 1) abort();
}

static void transfer_text(char **text) {
    uint32_t size = loads ? 0 : (uint32_t)strlen(*text) + 1;
    transfer(&size, sizeof size);
    if (loads) *text = malloc(size);
    transfer(*text, size);
}

// Pointers to nodes are transferred as inodes.
static void transfer_reference(struct node **node) {
    uint64_t inode = loads ? 0 : (*node)->inode;
    transfer(&inode, sizeof inode);
    if (loads) *node = durable_node(inode);
}

static void transfer_node(struct node *node) {
    struct node *next = node->next;
    char *name = node->name;
    transfer(node, sizeof *node);
    if (loads) {
        node->next = next;
        node->page_room = node->page_count;
        node->pages = malloc((node->page_count + 1) * sizeof *node->pages);
        free(name);
    }
    transfer_text(&node->name);
    transfer(node->pages, node->page_count * sizeof *node->pages);
    for (size_t i = 0; i < node->page_count; i++)
        for (uint32_t j = 0; j < node->pages[i].count; j++) {
            uint8_t **version = &node->pages[i].versions[j];
            if (!*version) continue; // zeros
            if (loads) *version = malloc(PAGE);
            transfer(*version, PAGE);
        }
}

static void transfer_change(struct change *change) {
    transfer(change, sizeof *change);
    transfer_reference(&change->subject);
    for (uint32_t i = 0; i < change->entry_count; i++) {
        transfer_reference(&change->entries[i].directory);
        transfer_text(&change->entries[i].name);
    }
}

void sim_files_save(int descriptor) {
    begin(descriptor, "w");
    transfer(&durable.last_number, sizeof durable.last_number);
    uint64_t inode;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct node *node = durable.buckets[i]; node; node = node->next) {
            transfer(&node->inode, sizeof node->inode);
            transfer_node(node);
        }
    transfer(&(uint64_t){0}, sizeof inode);
    transfer(&durable.change_count, sizeof durable.change_count);
    for (size_t i = 0; i < durable.change_count; i++) transfer_change(&durable.changes[i]);
    if (fclose(stream)) abort();
}

void sim_files_load(int descriptor) {
    begin(descriptor, "r");
    transfer(&durable.last_number, sizeof durable.last_number);
    uint64_t inode;
    while (transfer(&inode, sizeof inode), inode) transfer_node(durable_add(inode, "", false));
    transfer(&durable.change_count, sizeof durable.change_count);
    durable.change_room = durable.change_count + 1;
    durable.changes = realloc(durable.changes, durable.change_room * sizeof *durable.changes);
    for (size_t i = 0; i < durable.change_count; i++) transfer_change(&durable.changes[i]);
    fclose(stream);
}
