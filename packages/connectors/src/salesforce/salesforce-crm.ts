import { defineConnector, secret, text } from '@penstock/connector'
import { salesforce } from './platform.ts'

/** Customer data in the CRM of Salesforce, in both directions. */
export const salesforceCrm = defineConnector({
  slug: 'salesforce-crm',
  name: 'Salesforce CRM',
  platform: salesforce,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Reads customer data from Salesforce CRM and writes customer data to it.',
  notes: 'Salesforce has more than 40 endpoints: agree with your account manager on the ones to use.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'ID of the app that you registered with Salesforce',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Long-lived token that renews access to Salesforce',
      required: true,
    }),
  },
  source: {},
  destination: {},
})
