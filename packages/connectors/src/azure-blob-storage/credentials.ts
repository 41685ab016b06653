import { secret, select, text } from '@penstock/connector'
import { applicationFields } from '../azure/application-fields.ts'
import { audienceField, trustFields } from '../kit/identity-fields.ts'

const withoutKey = { authType: 'workload-identity' }

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
    identity: 'target',
    binds: ['accessKey'],
  }),
  accessKey: secret({
    label: 'Access key',
    description: 'One of the two access keys of that storage account',
    required: true,
    when: { authType: 'account-key' },
  }),
  ...applicationFields(withoutKey),
  identityAudience: audienceField(
    withoutKey,
    'api://AzureADTokenExchange',
    'Audience of the federated credential; other than the default only in national clouds',
  ),
  ...trustFields(withoutKey),
})
