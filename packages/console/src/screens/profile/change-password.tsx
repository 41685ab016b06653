import { Box, Button, PasswordInput, Stack } from '@mantine/core'
import { limits, type Me } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { enter } from '../../api/enter.ts'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { errorOfField, NewPassword } from '../../components/new-password.tsx'
import { notifyDone } from '../../components/notify.ts'
import { Section } from '../../components/section.tsx'
import { profile as say } from '../../strings/profile.ts'
import { session } from '../../strings/session.ts'

/** Changes the password of the person who is signed in, or sets their first one. */
export function ChangePassword({ me: { hasPassword, email } }: { me: Me }) {
  const change = useWrite('changePassword')
  const [currentPassword, setCurrentPassword] = useState('')
  const [newPassword, setNewPassword] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(
      { body: { newPassword, ...(hasPassword && { currentPassword }) } },
      {
        onSuccess: ({ reply }) => {
          enter(reply)
          setCurrentPassword('')
          setNewPassword('')
          change.reset()
          notifyDone(say.passwordChanged)
        },
      },
    )
  }
  const errors = {
    current: errorOfField(change.error, 'currentPassword'),
    new: errorOfField(change.error, 'newPassword'),
  }
  return (
    <Section title={say.password} help={hasPassword ? say.passwordHelp : say.passwordNone} region>
      <form onSubmit={submit}>
        <Stack maw={420}>
          {/* Password managers need to know whose it is. */}
          <input type="hidden" autoComplete="username" value={email ?? ''} />
          {hasPassword && (
            <PasswordInput
              label={say.currentPassword}
              required
              autoComplete="current-password"
              maxLength={limits.passwordLengthMax}
              value={currentPassword}
              error={errors.current}
              onChange={({ currentTarget }) => setCurrentPassword(currentTarget.value)}
              visibilityToggleButtonProps={{ 'aria-label': session.showPassword }}
            />
          )}
          <NewPassword value={newPassword} error={errors.new} onChange={setNewPassword} />
          {change.error && !errors.current && !errors.new && <Failure error={change.error} />}
          <Box>
            <Button type="submit" variant="default" loading={change.isPending}>
              {hasPassword ? say.changePassword : say.setPassword}
            </Button>
          </Box>
        </Stack>
      </form>
    </Section>
  )
}
