/**
 * Where the service is, as a path: empty, or the prefix under which a reverse proxy serves it. The service writes it into
 * the page.
 */
export const basePath: string = document.querySelector<HTMLMetaElement>('meta[name="penstock-prefix"]')?.content ?? ''

/** The address of something of the service that is no page of the console: a logo, the documentation. @param path begins with `/` */
export const addressOf = (path: string): string => basePath + path
