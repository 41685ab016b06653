import { ConnectorError } from '@penstock/connector'
import { type Auth, restApi } from '../kit/api.ts'
import type { Listing } from '../kit/listing-facts.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { campaignManagement, customerOrigin } from './api.ts'

const platformApi = restApi({ ...campaignManagement, baseUrl: `${customerOrigin}/CustomerManagement/v13` })
const auth: Auth = { open: async (context) => (await import('./microsoft-api.ts')).credentialsWith(context) }
const query = (path: string, body: object) => ({ method: 'POST' as const, path, body, repeatable: true })
const id = /^\d{1,20}$/

const listIdsAndNames = (list: unknown) =>
  listIn(list)
    .map(objectIn)
    .map(({ Id: id, Name: name }) => ({ id, name }))

/** The first hundred customers that the user can see. */
const customers: Listing = {
  kind: 'account',
  id,
  platformApi,
  auth,
  page: () => query('/CustomersInfo/Query', { CustomerNameFilter: '', TopN: 100 }),
  found: ({ json }) => listIdsAndNames(objectIn(json).CustomersInfo),
}

/** The ad accounts of the customer. */
const accounts: Listing = {
  kind: 'account',
  id,
  platformApi,
  auth,
  page(_, { settings }) {
    const customer = textIn(settings.customerId)?.trim() ?? ''
    if (id.test(customer)) return query('/AccountsInfo/Query', { CustomerId: customer })
    throw new ConnectorError('invalid_setting', 'Set “Customer ID” first, as a number: ad accounts belong to it.')
  },
  found: ({ json }) => listIdsAndNames(objectIn(json).AccountsInfo),
}

/** Values for the settings of every connection. */
export const customersAndAccounts = { customerId: customers, accountId: accounts }
