import { Button, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import type { Connection } from '@penstock/wire'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { keyOf, readNow } from '../api/queries.ts'
import { components } from '../strings/components.ts'
import { Failure } from './failure.tsx'

// The advice for each error is large, and most lists never show it.
const Findings = lazy(() => import('./findings.tsx').then((file) => ({ default: file.Findings })))

/**
 * Previews a connection before it is activated: activates it at once if nothing is found, and else shows what was found
 * and leaves the decision to the person, who need not wait for the preview either.
 */
export function Activate({
  connection: { accountId, id, name },
  runs = false,
  onActivate,
  onClose,
}: {
  connection: Pick<Connection, 'accountId' | 'id' | 'name'>
  /** Whether the first transfer follows. */
  runs?: boolean
  onActivate: () => void
  onClose: () => void
}) {
  const parameters = { accountId, id, body: {} }
  const { data, error, isFetching } = useQuery({
    queryKey: ['before activation', ...keyOf('previewConnection', parameters)],
    queryFn: ({ signal }) => readNow('previewConnection', { ...parameters, signal }),
    retry: false,
    gcTime: 0,
    staleTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const findings = data?.reply.findings ?? []
  const found = findings.length > 0 || isRefusedByPlatform(error)
  const activate = () => {
    // Closed first: what a write invalidates is read again, and that is no reason for another preview.
    onClose()
    onActivate()
  }
  const isDone = !isFetching && !found
  const latest = useRef(activate)
  latest.current = activate
  useEffect(() => {
    if (isDone) latest.current()
  }, [isDone])
  return (
    <Modal
      opened
      onClose={onClose}
      title={runs ? components.activateAndRunTitle(name) : components.activateTitle(name)}
    >
      <Stack>
        {isFetching ? (
          <Group gap="sm" role="status" wrap="nowrap">
            <Loader size="sm" aria-hidden />
            <Text size="sm">{components.activateChecks}</Text>
          </Group>
        ) : (
          <>
            <Suspense fallback={null}>
              <Findings findings={findings} />
            </Suspense>
            {found && error && <Failure error={error} />}
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {components.cancel}
          </Button>
          <Button variant={isFetching ? 'default' : 'filled'} onClick={activate}>
            {isFetching
              ? components.activateWithoutCheck
              : runs
                ? components.activateAndRunAnyway
                : components.activateAnyway}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Whatever else keeps a connection from being previewed, the activation itself refuses, or is not held up by. */
const isRefusedByPlatform = (error: unknown): boolean =>
  error instanceof PenstockError && error.code === 'platform_refused'
