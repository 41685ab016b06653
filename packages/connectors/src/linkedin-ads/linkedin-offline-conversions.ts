import { column, defineConnector, inspectBy, type RecordField, text } from '@penstock/connector'
import { linkedinAuthorization } from './authorization.ts'
import { linkedinAds } from './platform.ts'
import { signIn } from './sign-in.ts'
import { linkedinApi } from './version.ts'

const identifier = (description: string, form: Partial<RecordField> = {}) =>
  column({ description, oneOf: 'identifier', normalise: 'text', ...form })

/** Conversions that your own servers report to LinkedIn. */
export const linkedinOfflineConversions = defineConnector({
  slug: 'linkedin-offline-conversions',
  name: 'LinkedIn Offline Conversions',
  platform: linkedinAds,
  dataType: 'offline conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to LinkedIn from your own servers.',
  notes:
    'The app at LinkedIn needs the product Conversions API with the scopes rw_conversions and r_ads, and its user needs a role on the ad account other than viewer. Create the conversion rule in Campaign Manager with the method Conversions API, and add your campaigns to it. Conversions that are older than 90 days are rejected before they are sent. Send only people who have agreed to it: LinkedIn does not accept information on consent with a conversion.',
  tested:
    'Our own test server, which follows the published documentation of LinkedIn’s Conversions API; not LinkedIn itself.',
  api: linkedinApi,
  secrets: signIn,
  authorization: linkedinAuthorization('rw_conversions', 'r_ads'),
  check: async (context) => (await import('./check.ts')).checkLinkedIn(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 5000, bytesMax: 4_000_000 }),
      open: async (context) => (await import('./deliver-conversions.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertRole(context)),
    },
    fields: {
      conversionRuleId: text({
        label: 'Conversion rule ID',
        description: 'ID of the conversion rule for rows without one',
      }),
      adAccountId: text({
        label: 'Ad account ID',
        description: 'ID of the ad account that owns the rule, to check the role of the user',
      }),
      currency: text({
        label: 'Currency',
        description: 'Currency of values in rows without one, as a three-letter code: EUR',
      }),
    },
    records: {
      conversion_rule_id: column({
        description: 'ID of the conversion rule, if not the one of the connection',
        synonyms: ['conversion', 'conversion_id', 'conversion_rule', 'rule_id'],
      }),
      event_time: column({
        description: 'When it happened: seconds or milliseconds since 1970, or ISO 8601 with its time zone',
        required: true,
        synonyms: ['timestamp', 'occurred_at', 'conversion_time', 'conversion_happened_at'],
      }),
      event_id: column({
        description: 'ID by which LinkedIn recognises an event that its Insight Tag also reports; recommended',
        synonyms: ['order_id', 'transaction_id'],
      }),
      value: column({ description: 'Value of the conversion', synonyms: ['amount', 'conversion_value', 'revenue'] }),
      currency: column({
        description: 'Currency of the value, as a three-letter code',
        synonyms: ['currency_code', 'conversion_currency'],
      }),
      email: identifier('E-mail address; it is hashed before it is sent', { normalise: 'email', hashed: ['sha256'] }),
      li_fat_id: identifier('Click ID that LinkedIn adds to the URL of the landing page', {
        synonyms: ['click_id', 'linkedin_click_id', 'linkedin_first_party_ads_tracking_uuid'],
      }),
      acxiom_id: identifier('ID of the person at Acxiom'),
      oracle_moat_id: identifier('ID of the person at Oracle Moat; no longer documented by LinkedIn'),
      google_aid: identifier('Advertising ID of an Android device, not hashed', { synonyms: ['gaid', 'aaid'] }),
      ip_address: identifier('IPv4 address of the person, not hashed', { synonyms: ['ip', 'client_ip_address'] }),
      external_id: identifier('Your own ID of the person, not hashed', {
        synonyms: ['customer_id', 'user_id', 'crm_id'],
      }),
      first_name: identifier('First name, not hashed; used only together with the last name', {
        synonyms: ['fname', 'given_name'],
      }),
      last_name: column({
        description: 'Last name, not hashed',
        normalise: 'text',
        synonyms: ['lname', 'family_name', 'surname'],
      }),
      title: column({
        description: 'Job title; used only together with both names',
        normalise: 'text',
        synonyms: ['job_title'],
      }),
      company: column({
        description: 'Company; used only together with both names',
        normalise: 'text',
        synonyms: ['company_name'],
      }),
      country: column({
        description: 'Country, as its code or name; used only together with both names',
        normalise: 'country',
      }),
    },
  },
})
