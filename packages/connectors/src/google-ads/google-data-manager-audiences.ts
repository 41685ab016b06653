import { boolean, column, defineConnector, number, select, text } from '@penstock/connector'
import { dataManagerAuthorization } from '../google/authorization.ts'
import { addressColumns } from './address-columns.ts'
import { dataManagerApi } from './api-version.ts'
import { consent, consentColumns } from './consent.ts'
import { listColumns } from './list-columns.ts'
import { googleAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Customer lists of Google Ads or Display & Video 360, by way of Google Data Manager. */
export const googleDataManagerAudiences = defineConnector({
  slug: 'google-data-manager-audiences',
  name: 'Google Data Manager Audiences',
  platform: googleAds,
  dataType: 'customer match',
  dataTypeCategory: 'audience activation',
  description:
    'Creates customer lists through Google Data Manager and keeps them up to date, for Google Ads or for Display & Video 360.',
  actions: ['create', 'add', 'remove', 'replace'],
  notes:
    'A connection sends either contact data or advertising IDs, never both. Google processes uploads within hours. Members that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted. Replacing removes earlier members only from lists to which the transfer added someone. An address is sent only if it has a first name, last name, country and postal code.',
  tested:
    'Our own test server, which follows the published documentation of Google’s token endpoint and its Data Manager API; not Google itself.',
  api: dataManagerApi,
  secrets: signIn,
  authorization: dataManagerAuthorization,
  check: async (context) => {
    const { checkAudiences } = await import('./check-data-manager.ts')
    return checkAudiences((await import('./audience-plans.ts')).dataManagerAudiences)(context)
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 8_000_000 }),
      replaces: (settings) => settings.replaceExistingAudience === true,
      open: async (context) => {
        const { openAudiences } = await import('./deliver-audiences.ts')
        const { dataManagerAudiences } = await import('./audience-plans.ts')
        return openAudiences(context, dataManagerAudiences(context.settings))
      },
    },
    fields: {
      accountType: select({
        label: 'Account type',
        description: 'Which Google product the list is for',
        options: ['Google Ads', 'Display & Video 360'],
        required: true,
      }),
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the Google Ads customer or the Display & Video 360 advertiser, without dashes',
        required: true,
      }),
      managerAccountId: text({
        label: 'Manager account ID',
        description:
          'ID of the Google Ads manager account or the Display & Video 360 partner through which the user has access to the advertiser; leave it empty if the user has direct access',
      }),
      audienceType: select({
        label: 'Audience type',
        description: 'Whether the list consists of contact data or of advertising IDs of mobile devices',
        options: ['Contact Information', 'Mobile Advertising Id'],
        required: true,
      }),
      dataSourceType: text({
        label: 'Data source type',
        description: 'What kind of customer data you upload, in the terms that Data Manager uses',
        required: true,
      }),
      appId: text({
        label: 'App ID',
        description: 'ID of the app in which the advertising IDs were collected',
        required: true,
        when: { audienceType: 'Mobile Advertising Id' },
      }),
      keySpace: select({
        label: 'Key space',
        description: 'Which devices the advertising IDs come from: IOS if rows have idfa, ANDROID if they have gaid',
        options: ['IOS', 'ANDROID'],
        required: true,
        when: { audienceType: 'Mobile Advertising Id' },
      }),
      ...consent,
      replaceExistingAudience: boolean({
        label: 'Replace existing audience',
        description: 'Whether each transfer removes the earlier members of a list that it does not add',
      }),
      resultWaitSeconds: number({
        label: 'Wait for results (seconds)',
        description: 'How long a transfer waits at its end for Google to report rejected members; 0 to ask once',
        min: 0,
        max: 600,
        default: 30,
      }),
    },
    records: {
      ...listColumns,
      ...addressColumns,
      ...consentColumns,
      idfa: column({
        description: 'Advertising ID of an iOS device, not hashed',
        oneOf: 'identifier',
        normalise: 'text',
      }),
      gaid: column({
        description: 'Advertising ID of an Android device, not hashed',
        oneOf: 'identifier',
        normalise: 'text',
        synonyms: ['aaid'],
      }),
    },
  },
})
