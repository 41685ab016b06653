/** What the screen “Connection” says. */
export const connection = {
  title: 'Connection',
}
