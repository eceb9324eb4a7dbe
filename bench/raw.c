/*
 * What the machine and libcurl can do at most: 32 transfers at once that throw their bytes away.
 *
 *   raw LIST [CA_FILE]      LIST: one "URL<tab>destination" a line; the destinations are ignored
 */
#define _POSIX_C_SOURCE 200809L
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 32

static size_t discard(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

/* Sets the handle to the list's next URL; returns 0 at its end. */
static int take_next(FILE *list, CURL *easy) {
    static char *line;
    static size_t room;
    if (getline(&line, &room, list) <= 0) return 0;
    curl_easy_setopt(easy, CURLOPT_URL, strtok(line, "\t\n"));
    return 1;
}

int main(int argc, char **argv) {
    int running = 0, waiting, failed = 0;
    FILE *list = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!list) {
        fprintf(stderr, "usage: raw LIST [CA_FILE]\n");
        return 2;
    }
    CURLM *multi = curl_multi_init();
    for (int i = 0; i < AT_ONCE; i++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard);
        curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L); /* share the connection over HTTP/2, as the others do */
        if (argc > 2) curl_easy_setopt(easy, CURLOPT_CAINFO, argv[2]);
        if (take_next(list, easy)) curl_multi_add_handle(multi, easy);
        else curl_easy_cleanup(easy);
    }
    do {
        CURLMsg *message;
        curl_multi_perform(multi, &running);
        while ((message = curl_multi_info_read(multi, &waiting))) {
            CURL *easy = message->easy_handle;
            if (message->data.result != CURLE_OK) failed++;
            curl_multi_remove_handle(multi, easy);
            if (take_next(list, easy)) {
                curl_multi_add_handle(multi, easy);
                running = 1;
            } else {
                curl_easy_cleanup(easy);
            }
        }
        if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    } while (running);
    curl_multi_cleanup(multi);
    fclose(list);
    return failed ? 1 : 0;
}
