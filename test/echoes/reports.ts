import { type Side, secret } from './side.ts'

/** Reports of advertising platforms. */
export const reports: readonly Side[] = [
  {
    slug: 'meta-insights',
    secrets: { clientId: '1', clientSecret: secret('meta'), accessToken: 'EAAexample7Zq9wT4vT8rPm2Lc6' },
    settings: { accountIds: '1234567890' },
  },
]
