import { secret, select, text } from '@penstock/connector'

/** The two kinds of credentials that Azure accepts. The required permissions of the signed address depend on the direction. */
export const credentials = (permissions: string) => ({
  authType: select({
    keepsState: 'credential',
    label: 'Sign-in method',
    description: 'Sign in with a shared access signature or with the key of the storage account',
    options: ['sas-url', 'account-key'],
    labels: { 'sas-url': 'Shared access signature', 'account-key': 'Account key' },
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
    when: { authType: 'account-key' },
    binds: ['accessKey'],
  }),
  accessKey: secret({
    label: 'Access key',
    description: 'One of the two access keys of that storage account',
    required: true,
    when: { authType: 'account-key' },
  }),
})
