import { definePlatform } from '@penstock/connector'

export const googleSearchConsole = definePlatform({
  slug: 'google-search-console',
  name: 'Google Search Console',
  type: 'Data Provider',
  icon: 'googlesearchconsole',
  alsoCalled: ['gsc', 'webmaster', 'seo'],
})
