import { secret, select, text } from '@penstock/connector'
import { audienceField, trustFields } from '../kit/identity-fields.ts'

const withoutKey = { authType: 'workload-identity' }
const uuid = /^\s*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\s*$/i
const wrongId = (value: string) =>
  uuid.test(value) ? undefined : 'must be an identifier such as 6f3c2b10-0d4e-4856-9f1a-3f9c2b7a10d4'

/** The kinds of credentials that Azure accepts. The required permissions of the signed address depend on the direction. */
export const credentials = (permissions: string) => ({
  authType: select({
    keepsState: 'credential',
    label: 'Sign-in method',
    description:
      'Sign in with a shared access signature, with the key of the storage account, or as an application that trusts this service, so that no key is stored',
    options: ['sas-url', 'account-key', 'workload-identity'],
    labels: {
      'sas-url': 'Shared access signature',
      'account-key': 'Account key',
      'workload-identity': 'Workload identity federation',
    },
    identity: 'target',
    required: true,
  }),
  sasUrl: secret({
    label: 'SAS URL',
    description: `URL of the container with a shared access signature that has the permissions ${permissions}`,
    required: true,
    when: { authType: 'sas-url' },
  }),
  accountName: text({
    label: 'Account name',
    description:
      'Name of the storage account; for a cloud other than the public one, the address of its blob service, such as https://account.blob.core.chinacloudapi.cn',
    required: true,
    when: { authType: ['account-key', 'workload-identity'] },
    binds: ['accessKey'],
  }),
  accessKey: secret({
    label: 'Access key',
    description: 'One of the two access keys of that storage account',
    required: true,
    when: { authType: 'account-key' },
  }),
  directoryId: text({
    keepsState: 'credential',
    identity: 'target',
    label: 'Tenant ID',
    description: 'Directory (tenant) ID of the application in Microsoft Entra ID',
    required: true,
    when: withoutKey,
    wrong: wrongId,
  }),
  clientId: text({
    keepsState: 'credential',
    identity: 'target',
    label: 'Client ID',
    description: 'Application (client) ID of the application that trusts this service',
    required: true,
    when: withoutKey,
    wrong: wrongId,
  }),
  identityAudience: audienceField(
    withoutKey,
    'api://AzureADTokenExchange',
    'Audience of the federated credential; other than the default only in national clouds',
  ),
  ...trustFields(withoutKey),
})
