import { Button, Group, Text, TextInput } from '@mantine/core'
import { limits, type Me } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { LimitedTo, Scopes } from '../../components/access.tsx'
import { Failure } from '../../components/failure.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { errorOfField } from '../../components/new-password.tsx'
import { notifyDone } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import { Fact, Section } from '../../components/section.tsx'
import { access } from '../../strings/access.ts'
import { components } from '../../strings/components.ts'
import { profile as say } from '../../strings/profile.ts'
import { ChangePassword } from './change-password.tsx'
import { Passkeys } from './passkeys.tsx'
import { Sessions } from './sessions.tsx'

export const readAhead = () => readOnce('getMe', {})

/** The profile of the signed-in person: their name, sign-in methods and sessions. */
export function Component() {
  const query = useRead('getMe', {})
  const me = query.data?.reply
  return (
    <Page title={say.title} help={me && say.help(me.email ?? me.name ?? me.id, me.organizationName)}>
      <Loaded query={query} lines={6}>
        {({ reply }) =>
          reply.kind === 'user' ? (
            <>
              <Identity key={reply.id} me={reply} />
              <ChangePassword me={reply} />
              <Passkeys />
              <Sessions />
            </>
          ) : (
            <Text>{say.clientHelp}</Text>
          )
        }
      </Loaded>
    </Page>
  )
}

function Identity({ me }: { me: Me }) {
  const update = useWrite('updateMe')
  const [name, setName] = useState(me.name ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    update.mutate({ body: { name: name.trim() } }, { onSuccess: () => notifyDone(say.saved) })
  }
  const fieldError = errorOfField(update.error, 'name')
  return (
    <Section title={say.you} region>
      <Group gap="xl" align="flex-start">
        <Fact label={say.role}>{me.role ? access.role[me.role] : <Scopes scopes={me.scopes} />}</Fact>
        <Fact label={say.accounts}>
          <LimitedTo accountIds={me.accountIds} />
        </Fact>
      </Group>
      <form onSubmit={submit}>
        <Group align="flex-end" gap="sm">
          <TextInput
            label={say.name}
            required
            autoComplete="name"
            maxLength={limits.nameLengthMax}
            value={name}
            error={fieldError}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            style={{ flex: '1 1 14rem', maxWidth: 360 }}
          />
          <Button type="submit" variant="default" loading={update.isPending} disabled={name.trim() === me.name}>
            {components.save}
          </Button>
        </Group>
      </form>
      {update.error && !fieldError && <Failure error={update.error} />}
    </Section>
  )
}
