import { boolean, column, defineConnector, number, select, text } from '@penstock/connector'
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
    'A connection carries either contact data or advertising IDs, never both. Google goes through what it took in within hours: members that it does not use are counted as rejected where it says so while the transfer waits for its results, and later ones are not in its counts. Replacing removes earlier members only of lists to which the transfer has added some. An address is matched only where first name, last name, country and postal code are all there.',
  tested:
    'Our own test server, which follows what is published of Google’s token endpoint and its Data Manager API; not Google itself.',
  api: dataManagerApi,
  secrets: signIn,
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
        description: 'Number of the Google Ads customer or of the Display & Video 360 advertiser, without dashes',
        required: true,
      }),
      managerAccountId: text({
        label: 'Manager account ID',
        description:
          'Number of the Google Ads manager account or Display & Video 360 partner through which the user reaches the advertiser; leave it out where the user has access directly',
      }),
      audienceType: select({
        label: 'Audience type',
        description: 'Whether the list is made of contact data or of advertising IDs of mobile devices',
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
        description:
          'Which devices the advertising IDs come from: IOS where rows carry idfa, ANDROID where they carry gaid',
        options: ['IOS', 'ANDROID'],
        required: true,
        when: { audienceType: 'Mobile Advertising Id' },
      }),
      ...consent,
      replaceExistingAudience: boolean({
        label: 'Replace existing audience',
        description: 'Whether each transfer removes the members who were in a list before it and whom it does not add',
      }),
      resultWaitSeconds: number({
        label: 'Wait for results (seconds)',
        description:
          'How long a transfer waits in the end for Google to say which members it did not use; 0 to ask once',
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
