import { authorizationAt } from '@penstock/connector'

/** How Snapchat's connectors are authorized. */
export const authorization = authorizationAt(
  {
    slug: 'snapchat-ads',
    name: 'Snapchat',
    authorizeUrl: 'https://accounts.snapchat.com/login/oauth2/authorize',
    tokenUrl: 'https://accounts.snapchat.com/login/oauth2/access_token',
    pkce: false,
    registration: 'Create an OAuth app under “Business Details” in Snapchat’s Business Manager.',
    withoutRefreshToken: 'Check that the OAuth app in Snapchat’s Business Manager is one for the Marketing API.',
  },
  ['snapchat-marketing-api'],
)
