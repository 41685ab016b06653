/** The texts of saved filters. */
export const savedFilters = {
  title: 'Saved filters',
  none: 'No saved filters yet',
  save: 'Save this filter',
  saveTitle: 'Save this filter',
  change: 'Rename or delete …',
  manage: 'Change saved filters',
  name: 'Name',
  share: 'Share with everyone who can see this list',
  shared: 'Shared',
  saved: (name: string) => `${name} was saved`,
  rename: 'Rename',
  renamed: 'Renamed',
  delete: 'Delete',
  deleted: (name: string) => `${name} was deleted`,
}
