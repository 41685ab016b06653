/** The texts of tags and owners of connections. */
export const labels = {
  title: 'Tags and owner',
  tags: 'Tags',
  tagsHelp: 'Press Enter after each tag.',
  addTags: 'Add tags',
  anyTags: 'Tags',
  owner: 'Owner',
  ownerHelp: 'Responsible for the connection. Named in alert messages.',
  anyOwner: 'All owners',
  noOwner: 'No owner',
  mine: 'Mine',
  keepOwner: 'Keep the owner',
  saved: 'Labels saved',
  save: 'Save',
  noPeople: 'No matching people',
  bulk: 'Tag',
  bulkTitle: (n: number) => (n === 1 ? 'Tag 1 connection' : `Tag ${n} connections`),
}
