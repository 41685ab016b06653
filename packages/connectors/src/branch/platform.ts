import { definePlatform } from '@penstock/connector'

export const branch = definePlatform({
  slug: 'branch',
  name: 'Branch',
  type: 'Data Provider',
  alsoCalled: ['attribution', 'branch.io', 'deep links', 'installs', 'mmp', 'mobile measurement'],
})
