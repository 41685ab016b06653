import { createSecretManagers } from '../../packages/server/src/secret-managers/secret-managers.ts'

/** The secret managers of a deployment that has none. */
export const noSecretManagers = createSecretManagers({
  secretManagers: [],
  egress: { networkPolicy: 'any', allow: [], proxy: undefined, except: [], reason: '' },
})
