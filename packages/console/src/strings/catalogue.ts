/** What the screen “Catalogue” says. */
export const catalogue = {
  title: 'Catalogue',
}
