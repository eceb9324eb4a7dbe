/* The fixed texts of the page that `backhaul report` writes. Each ends with a NUL. */
#ifndef BHL_REPORT_PAGE_H
#define BHL_REPORT_PAGE_H

const unsigned char *bhl_report_style(void);
const unsigned char *bhl_report_body(void);
const unsigned char *bhl_report_script(void);

#endif
