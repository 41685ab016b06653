/** What the screen “Overview” says. */
export const overview = {
  title: 'Overview',
}
