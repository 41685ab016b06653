import { Alert, Checkbox, List, PasswordInput, Radio, Stack, Text, TextInput, Title } from '@mantine/core'
import { type SingleSignOn, userRoleNames } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { CopyField } from '../../components/copy-field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { LimitAccounts } from '../../components/limit-accounts.tsx'
import { PickRole } from '../../components/pick-role.tsx'
import { signInSettings as say } from '../../strings/sign-in-settings.ts'

const roles = userRoleNames.filter((role) => role !== 'owner')

/** Sets up the identity provider, or changes it. @param provider undefined: there is none yet */
export function SetSingleSignOn({ provider, onClose }: { provider: SingleSignOn | undefined; onClose: () => void }) {
  const save = useWrite('setSingleSignOn')
  const rules = useRead('getSignInRules', {})
  const [issuer, setIssuer] = useState(provider?.issuer ?? '')
  const [clientId, setClientId] = useState(provider?.clientId ?? '')
  const [clientSecret, setClientSecret] = useState('')
  const [domains, setDomains] = useState(provider?.emailDomains?.join(', ') ?? '')
  const [adds, setAdds] = useState(Boolean(provider?.newUsers))
  const [role, setRole] = useState(provider?.newUsers?.role ?? 'viewer')
  const [accountIds, setAccountIds] = useState<readonly string[] | null>(provider?.newUsers?.accountIds ?? null)
  const [required, setRequired] = useState(provider?.required ?? false)
  const keepsSecret = issuer.trim() === provider?.issuer && clientId.trim() === provider.clientId
  const send = async () => {
    const emailDomains = domains.split(/[\s,;]+/).filter((domain) => domain !== '')
    const body = {
      issuer: issuer.trim(),
      clientId: clientId.trim(),
      required,
      ...(clientSecret === '' ? {} : { clientSecret }),
      emailDomains: emailDomains.length > 0 ? emailDomains : null,
      newUsers: adds ? { role, accountIds: accountIds && [...accountIds] } : null,
    }
    await save.mutateAsync({ body })
    return say.savedNow
  }
  return (
    <FormDialog
      title={provider ? say.changeTitle : say.setUp}
      size="lg"
      gap="xl"
      invalid={{ 'newUsers.accountIds': adds && accountIds?.length === 0 && say.chooseAccount }}
      onSubmit={send}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <Step title={say.register}>
            <Text size="sm">{say.registerHelp}</Text>
            <CopyField label={say.redirectUri} value={rules.data?.reply.redirectUri ?? ''} />
          </Step>
          <Step title={say.enter}>
            <TextInput
              type="url"
              label={say.issuer}
              description={say.issuerHelp}
              required
              autoComplete="off"
              spellCheck={false}
              value={issuer}
              onChange={({ currentTarget }) => setIssuer(currentTarget.value)}
            />
            <TextInput
              label={say.clientId}
              required
              autoComplete="off"
              spellCheck={false}
              value={clientId}
              onChange={({ currentTarget }) => setClientId(currentTarget.value)}
            />
            <PasswordInput
              label={say.clientSecret}
              description={provider && (keepsSecret ? say.secretKept : say.secretNeeded)}
              required={!keepsSecret}
              autoComplete="off"
              value={clientSecret}
              onChange={({ currentTarget }) => setClientSecret(currentTarget.value)}
              visibilityToggleButtonProps={{ 'aria-label': say.showSecret }}
            />
          </Step>
          <Step title={say.who}>
            <TextInput
              label={say.emailDomains}
              description={say.emailDomainsHelp}
              autoComplete="off"
              spellCheck={false}
              value={domains}
              onChange={({ currentTarget }) => setDomains(currentTarget.value)}
            />
            <Radio.Group
              label={say.newUsers}
              value={adds ? 'add' : 'refuse'}
              onChange={(choice) => setAdds(choice === 'add')}
            >
              <Stack gap="xs" mt={6}>
                <Radio value="refuse" label={say.newUsersRefuse} />
                <Radio value="add" label={say.newUsersAdd} />
              </Stack>
            </Radio.Group>
            {adds && (
              <>
                <PickRole value={role} roles={roles} onChange={setRole} />
                <LimitAccounts value={accountIds} error={errorOf('newUsers.accountIds')} onChange={setAccountIds} />
              </>
            )}
            <Checkbox
              label={say.required}
              description={say.requiredHelp}
              checked={required}
              onChange={({ currentTarget }) => setRequired(currentTarget.checked)}
            />
            {required && !provider?.required && (
              <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={say.requiredTitle}>
                <List size="sm" spacing={4}>
                  {say.requiredEffects.map((effect) => (
                    <List.Item key={effect}>{effect}</List.Item>
                  ))}
                </List>
              </Alert>
            )}
          </Step>
        </>
      )}
    </FormDialog>
  )
}

function Step({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={3} size="h6">
        {title}
      </Title>
      {children}
    </Stack>
  )
}
