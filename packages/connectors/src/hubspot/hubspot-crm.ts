import { defineConnector, secret, text } from '@penstock/connector'
import { hubspot } from './platform.ts'

/** CRM records of HubSpot. */
export const hubspotCrm = defineConnector({
  slug: 'hubspot-crm',
  name: 'HubSpot CRM',
  platform: hubspot,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description: 'Reads the CRM records of a HubSpot account.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'Client ID that your HubSpot account shows for your app',
      required: true,
    }),
    clientSecret: secret({
      label: 'Secret key',
      description: 'Secret that HubSpot shows together with this client ID',
      required: true,
    }),
  },
  source: {},
})
