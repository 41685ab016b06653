import { lazy, type ReactNode, Suspense } from 'react'
import { useMe } from '../api/me.ts'

const FirstPasskey = lazy(() => import('./first-passkey.tsx'))

/** Has a person register a passkey where they may do nothing else before that. */
export function RequireSecondFactor({ children }: { children: ReactNode }) {
  const me = useMe()
  if (!me?.mustRegisterPasskey) return children
  return (
    <Suspense fallback={null}>
      <FirstPasskey me={me} />
    </Suspense>
  )
}
