/** Paths as settings have them, without the slash at the beginning; the top is empty. */
export const pathIn = (setting: unknown): string =>
  String(setting ?? '')
    .trim()
    .replace(/\/{2,}/g, '/')
    .replace(/^\//, '')

/** A path as Dropbox has it: the top is empty, all others begin with a slash, and none ends with one. */
export const dropboxPath = (path: string): string => {
  const plain = path.replace(/\/+$/, '')
  return plain === '' ? '' : `/${plain}`
}
