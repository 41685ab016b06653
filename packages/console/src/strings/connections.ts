/** What the screen “Connections” says. */
export const connections = {
  title: 'Connections',
}
