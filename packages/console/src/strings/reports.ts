/** What the screen “Reports” says. */
export const reports = {
  title: 'Reports',
}
