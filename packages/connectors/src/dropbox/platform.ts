import { definePlatform } from '@penstock/connector'

export const dropboxPlatform = definePlatform({
  slug: 'dropbox',
  name: 'Dropbox',
  type: 'Cloud Storage Provider',
  prepare: [
    'A Dropbox user who can open the folder. For a folder of a team, a member of the team.',
    'The path of the folder, such as `/exports/daily`.',
  ],
  alsoCalled: ['csv', 'json', 'parquet'],
  icon: 'dropbox',
})
