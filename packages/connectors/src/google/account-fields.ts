import { type Condition, type FieldDefinition, select, text } from '@penstock/connector'
import { trustFields } from '../kit/identity-fields.ts'
import { isProvider, isServiceAccount } from './names.ts'

const withKey = { authType: 'service-account' }
const withoutKey = { authType: 'workload-identity' }

/**
 * How a connector signs in as a service account: with its key, or without a key, by workload identity federation.
 * @param jsonKey the field of the key
 */
export const accountFields = (jsonKey: FieldDefinition) => ({
  authType: select({
    keepsState: 'credential',
    identity: 'target',
    label: 'Sign-in method',
    description:
      'Sign in with the key of a service account, or by workload identity federation, so that no key is stored',
    options: ['service-account', 'workload-identity'],
    labels: { 'service-account': 'Service account key', 'workload-identity': 'Workload identity federation' },
    default: 'service-account',
  }),
  jsonKey: { ...jsonKey, when: withKey },
  ...federationFields(withoutKey),
  ...trustFields(withoutKey),
})

/** The service account that the identity of the sub-account impersonates, and the provider that trusts it. */
export const federationFields = (when: Condition) => ({
  workloadProvider: text({
    keepsState: 'credential',
    identity: 'target',
    label: 'Workload identity provider',
    description:
      'Resource name: projects/123456789012/locations/global/workloadIdentityPools/example/providers/penstock',
    required: true,
    when,
    wrong: (value) =>
      isProvider(value)
        ? undefined
        : 'must be a name such as projects/123456789012/locations/global/workloadIdentityPools/example/providers/penstock',
  }),
  serviceAccount: text({
    keepsState: 'credential',
    identity: 'target',
    label: 'Service account',
    description: 'Service account that the subject may impersonate, such as name@project.iam.gserviceaccount.com',
    required: true,
    when,
    wrong: (value) =>
      isServiceAccount(value)
        ? undefined
        : 'must be the address of a service account, which ends with gserviceaccount.com',
  }),
})
