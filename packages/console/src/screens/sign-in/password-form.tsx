import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { limits } from '@penstock/wire'
import { useState } from 'react'
import { Link } from 'react-router'
import { enter } from '../../api/enter.ts'
import { anonymous } from '../../api/session.ts'
import { CardPage } from '../../components/card-page.tsx'
import { Failure } from '../../components/failure.tsx'
import { errorOfField } from '../../components/new-password.tsx'
import { session as say } from '../../strings/session.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { SingleSignOn } from './single-sign-on.tsx'

/**
 * Signs in a person with e-mail address and password, or their passkey.
 * @param link of a sign-in at an identity provider, which the person confirms with this one
 */
export function PasswordForm({
  isExpired = false,
  onOther,
  link,
}: {
  isExpired?: boolean
  onOther?: () => void
  link?: string
}) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [organizationId, setOrganizationId] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const isInSeveral = failure instanceof PenstockError && failure.code === 'organization_required'
  const submit = async () => {
    setBusy(true)
    try {
      const named = organizationId.trim()
      const { reply } = await anonymous.signIn({
        body: { email: email.trim(), password, ...(named && { organizationId: named }), ...(link && { link }) },
      })
      enter(reply)
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <CardPage
      title={link ? say.confirmTitle : say.title}
      help={link ? say.confirmHelp : isExpired ? say.expired : say.help}
      onSubmit={() => void submit()}
    >
      <TextInput
        type="email"
        label={say.email}
        required
        autoFocus
        autoComplete="username"
        maxLength={limits.emailLengthMax}
        value={email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <PasswordInput
        label={say.password}
        required
        autoComplete="current-password"
        maxLength={limits.passwordLengthMax}
        value={password}
        onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': say.showPassword }}
      />
      {(isInSeveral || organizationId !== '') && (
        <TextInput
          label={say.organizationId}
          description={errorOfField(failure, 'organizationId')}
          required
          spellCheck={false}
          autoComplete="off"
          value={organizationId}
          onChange={({ currentTarget }) => setOrganizationId(currentTarget.value)}
        />
      )}
      {failure !== undefined && <Failure error={failure} />}
      <Button type="submit" loading={busy} fullWidth>
        {say.signIn}
      </Button>
      <PasskeyButton link={link} />
      {!link && <SingleSignOn />}
      <Stack gap={6} align="flex-start">
        <Anchor component={Link} to="/forgot-password" size="sm">
          {say.forgot}
        </Anchor>
        {onOther && (
          <Anchor component="button" type="button" size="sm" onClick={onOther}>
            {say.withClient}
          </Anchor>
        )}
      </Stack>
    </CardPage>
  )
}
