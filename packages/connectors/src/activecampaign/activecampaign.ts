import { defineConnector, secret, text } from '@penstock/connector'
import { activeCampaignPlatform } from './platform.ts'

/** Contacts of ActiveCampaign. */
export const activecampaign = defineConnector({
  slug: 'activecampaign',
  name: 'ActiveCampaign',
  platform: activeCampaignPlatform,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  status: 'preview',
  description:
    'Delivers contacts to an ActiveCampaign account, where e-mails, automations and sales work make use of them.',
  secrets: {
    apiUrl: text({
      label: 'API URL',
      description: 'Address for API calls of your own account, as the developer settings of ActiveCampaign show it',
      required: true,
      binds: ['apiKey'],
    }),
    apiKey: secret({
      label: 'API key',
      description: 'Key that stands beside the API URL in the developer settings',
      required: true,
    }),
  },
  destination: {},
})
