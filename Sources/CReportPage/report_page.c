// The texts are files of their own, which editors and browsers can open. Clang embeds them, because a resource of the
// Swift package would need a folder beside the program, and Swift needs ten seconds to compile an array of this size.

#include "report_page.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char style[] = {
#embed "page/report.css"
    , 0};
static const unsigned char body[] = {
#embed "page/report.html"
    , 0};
static const unsigned char script[] = {
#embed "page/data.js"
    ,
#embed "page/charts.js"
    ,
#embed "page/table.js"
    ,
#embed "page/details.js"
    ,
#embed "page/report.js"
    , 0};

const unsigned char *bhl_report_style(void) { return style; }

const unsigned char *bhl_report_body(void) { return body; }

const unsigned char *bhl_report_script(void) { return script; }
