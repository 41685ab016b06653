import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { SingleSignOn } from '@penstock/wire'
import { useForbiddenOf } from '../../api/me.ts'
import { useReadIfAny } from '../../api/queries.ts'
import { LimitedTo } from '../../components/access.tsx'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { CopyField } from '../../components/copy-field.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { Lines, NotRead } from '../../components/loaded.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Fact, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { access } from '../../strings/access.ts'
import { signInSettings as say } from '../../strings/sign-in-settings.ts'
import { SetSingleSignOn } from './set-single-sign-on.tsx'

/** The identity provider of the organization: what it is, to set it up, to change and to remove it. */
export function SingleSignOnCard() {
  const query = useReadIfAny('getSingleSignOn', {})
  const forbidden = useForbiddenOf()
  const isNone = query.data === null
  const provider = query.data?.reply
  const [dialog, open] = useDialog()
  const remove = () =>
    open((close) => (
      <ConfirmWrite
        title={say.removeTitle}
        action={say.remove}
        operation="deleteSingleSignOn"
        parameters={{}}
        done={say.removed}
        onClose={close}
      >
        {say.removeHelp}
      </ConfirmWrite>
    ))
  const actions = (
    <Group gap="sm">
      {(provider || isNone) && (
        <ReasonedButton
          variant={provider ? 'default' : 'filled'}
          reason={forbidden('setSingleSignOn')}
          onClick={() => open((close) => <SetSingleSignOn provider={provider} onClose={close} />)}
        >
          {provider ? say.change : say.setUp}
        </ReasonedButton>
      )}
      {provider && (
        <ReasonedButton variant="default" reason={forbidden('deleteSingleSignOn')} onClick={remove}>
          {say.remove}
        </ReasonedButton>
      )}
    </Group>
  )
  return (
    <Section title={say.singleSignOn} help={say.singleSignOnHelp} action={actions} region>
      <NotRead query={query} />
      {provider ? (
        <Provider provider={provider} />
      ) : isNone ? (
        <Text size="sm">{say.none}</Text>
      ) : (
        query.isPending && <Lines lines={3} />
      )}
      {dialog}
    </Section>
  )
}

function Provider({ provider }: { provider: SingleSignOn }) {
  const { issuer, clientId, emailDomains, newUsers, required, signInUrl, redirectUri, savedTime } = provider
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        <Fact label={say.issuer}>{issuer}</Fact>
        <Fact label={say.clientId}>{clientId}</Fact>
        <Fact label={say.otherWays}>{required ? say.otherWaysOwners : say.otherWaysAll}</Fact>
        <Fact label={say.emailDomains}>{emailDomains ? emailDomains.join(', ') : say.anyDomain}</Fact>
        <Fact label={say.newPeople}>
          {newUsers ? (
            <>
              {say.newPeopleAdded(access.role[newUsers.role])} <LimitedTo accountIds={newUsers.accountIds} />
            </>
          ) : (
            say.newPeopleRefused
          )}
        </Fact>
        <Fact label={say.saved}>
          <Time seconds={savedTime} />
        </Fact>
      </SimpleGrid>
      <div>
        <CopyField label={say.signInUrl} value={signInUrl} />
        <Text size="sm" c="dimmed" mt={4}>
          {say.signInUrlHelp}
        </Text>
      </div>
      <div>
        <CopyField label={say.redirectUri} value={redirectUri} />
        <Text size="sm" c="dimmed" mt={4}>
          {say.redirectUriHelp}
        </Text>
      </div>
    </Stack>
  )
}
