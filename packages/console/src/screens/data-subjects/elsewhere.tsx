import { Anchor, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'react-router'
import { count } from '../../components/numbers.ts'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf } from '../../shell/account.ts'
import { dataSubjects as say } from '../../strings/data-subjects.ts'
import type { Search } from './use-search.ts'

/** Places that a search does not read, or reads in another way, so that nobody takes the list of records for everything. */
export function Elsewhere({
  accountId,
  of: { users, files, filesUntil, rejectDays },
}: {
  accountId: string | undefined
  of: NonNullable<Search['elsewhere']>
}) {
  return (
    <Section title={say.elsewhere} region>
      <dl style={{ display: 'grid', gap: '0.75rem', margin: 0 }}>
        <Place name={say.accepted}>{say.acceptedHelp}</Place>
        <Place name={say.rejected}>{say.rejectedHelp(rejectDays)}</Place>
        <Place name={say.files}>
          {files === 0 ? (
            say.noFiles
          ) : (
            <>
              {say.filesHelp(files, count(files))} <Time seconds={filesUntil} planned />.{' '}
              {accountId && (
                <Anchor component={Link} to={pathOf(accountId, 'start')} inherit underline="always">
                  {say.showFiles}
                </Anchor>
              )}
            </>
          )}
        </Place>
        {users && (
          <Place name={say.users}>
            {users.length === 0
              ? say.noUsers
              : users.map(({ id, name }, at) => (
                  <Fragment key={id}>
                    {at > 0 && ', '}
                    {name} (
                    <Anchor component={Link} to={`/audit?actorId=${id}`} inherit underline="always">
                      {say.userEvents}
                    </Anchor>
                    )
                  </Fragment>
                ))}
          </Place>
        )}
        <Place name={say.backups}>{say.backupsHelp}</Place>
      </dl>
    </Section>
  )
}

function Place({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="sm" fw={600}>
        {name}
      </Text>
      <Text component="dd" size="sm" c="dimmed" m={0}>
        {children}
      </Text>
    </div>
  )
}
