import { checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { apiVersion, openSalesforce, tokenOriginOf } from './salesforce-api.ts'

/** Whether Salesforce answers, accepts the credentials, and has this version of the API for the user. */
export const check = checkSteps(
  ['connectivity', async (context) => await assertConnectivity(context, `${tokenOriginOf(context)}/`)],
  [
    'authentication',
    async (context) => {
      await openSalesforce(context)
      return 'Salesforce accepts the credentials.'
    },
  ],
  [
    'permissions',
    async (context) => {
      const { client } = await openSalesforce(context)
      await client.askObject({ path: '/' })
      return `The user may use version ${apiVersion} of the API.`
    },
  ],
)
