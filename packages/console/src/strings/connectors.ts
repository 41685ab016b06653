/** What the screen “Connectors” says. */
export const connectors = {
  title: 'Connectors',
}
