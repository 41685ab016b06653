import { lazy, type ReactNode, Suspense } from 'react'
import { useMe } from '../api/me.ts'

const FirstPasskey = lazy(() => import('./first-passkey.tsx'))

/** Requires a person to register a passkey if their session can do nothing else before. */
export function RequireSecondFactor({ children }: { children: ReactNode }) {
  const me = useMe()
  if (!me?.mustRegisterPasskey) return children
  return (
    <Suspense fallback={null}>
      <FirstPasskey me={me} />
    </Suspense>
  )
}
