/** What the screen “Deleted” says. */
export const deleted = {
  title: 'Deleted',
}
