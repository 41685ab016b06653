import { checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { accountName, dataManagerOrigin, openDataManager } from './data-manager.ts'

export const checkDataManager = checkSteps(
  ['reach', (context) => assertConnectivity(context, `${dataManagerOrigin}/`)],
  [
    'sign in',
    async (context) => {
      await openDataManager(context).access.token()
      return 'Google accepts the OAuth client and the refresh token.'
    },
  ],
  [
    'permission',
    async (context) => {
      const dataManager = openDataManager(context)
      if (!dataManager.operating.accountId) return 'Nothing to be checked until a connection names an account.'
      await dataManager.ask('GET', `${accountName(dataManager.operating)}/userLists?pageSize=1`)
      return 'The account lets its customer lists be read.'
    },
  ],
)
