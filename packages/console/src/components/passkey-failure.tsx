import { Text } from '@mantine/core'
import { isGivenUp, isOfOtherHost, isRegistered } from '../api/passkeys.ts'
import { passkeys as say } from '../strings/passkeys.ts'
import { Failure } from './failure.tsx'

/** Error of a passkey operation. Cancelling it is not an error. */
export function PasskeyFailure({ error }: { error: unknown }) {
  const text = isRegistered(error)
    ? say.registered
    : isOfOtherHost(error)
      ? say.otherHost
      : isGivenUp(error)
        ? say.givenUp
        : undefined
  if (text === undefined) return <Failure error={error} />
  return (
    <Text size="sm" role="status">
      {text}
    </Text>
  )
}
