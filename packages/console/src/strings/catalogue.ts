/** What the screen “Catalogue” says. */
export const catalogue = {
  title: 'Catalogue',
  help: 'Every connector that there is. Pick those that this sub-account needs, add them, then configure each.',
  toConnectors: 'Added connectors',
  search: 'Search the catalogue',
  role: 'Role',
  category: 'Category',
  platformType: 'Platform type',
  dataType: 'Data type',
  anyOf: (filter: string) => `Clear: ${filter}`,
  movesData: 'Moves data',
  notAdded: 'Not added yet',
  found: (shown: string, n: number, filtered: boolean) =>
    filtered ? `${shown} ${n === 1 ? 'connector fits' : 'connectors fit'}` : `${shown} connectors`,
  clearFilters: 'Clear search and filters',
  noneFound: 'No connector fits',
  noneFoundHelp: 'Search by a part of its name, or clear a filter.',
  isAdded: 'Added',
  /** A term of the catalogue as it begins a line. */
  selection: 'What is picked',
  selected: (n: number) => `${n} picked`,
  clearSelection: 'Clear',
  add: (n: number) => (n === 1 ? 'Add 1 connector' : `Add ${n} connectors`),
  added: (n: number, first: string) => (n === 1 ? `${first} was added` : `${n} connectors were added`),
}
