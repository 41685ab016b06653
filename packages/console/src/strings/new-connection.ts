/** What the screen “New connection” says. */
export const newConnection = {
  title: 'New connection',
}
