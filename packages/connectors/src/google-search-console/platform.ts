import { definePlatform } from '@penstock/connector'

export const googleSearchConsole = definePlatform({
  slug: 'google-search-console',
  name: 'Google Search Console',
  type: 'Data Provider',
  prepare: [
    'A Google user with access to the property: Search Console › Settings › Users and permissions.',
    'The property as Search Console shows it, such as `sc-domain:example.com`.',
  ],
  icon: 'googlesearchconsole',
  alsoCalled: ['gsc', 'webmaster', 'seo'],
})
