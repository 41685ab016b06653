/** What the screen “Run” says. */
export const run = {
  title: 'Run',
}
