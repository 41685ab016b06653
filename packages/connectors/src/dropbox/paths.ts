/** Paths as settings contain them, without a leading slash. The root is empty. */
export const pathIn = (setting: unknown): string =>
  String(setting ?? '')
    .trim()
    .replace(/\/{2,}/g, '/')
    .replace(/^\//, '')

/** A path as Dropbox expects it. The root is empty, all others begin with a slash, and no path ends with one. */
export const dropboxPath = (path: string): string => {
  const plain = path.replace(/\/+$/, '')
  return plain === '' ? '' : `/${plain}`
}
