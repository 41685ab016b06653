import { definePlatform } from '@penstock/connector'

export const appsflyer = definePlatform({
  slug: 'appsflyer',
  name: 'AppsFlyer',
  type: 'Data Provider',
  alsoCalled: ['attribution', 'installs', 'mmp', 'mobile measurement', 'push api'],
})
