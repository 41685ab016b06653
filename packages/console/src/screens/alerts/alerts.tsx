import { SegmentedControl } from '@mantine/core'
import { readOnce } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { Lines } from '../../components/loaded.tsx'
import { Page, Toolbar } from '../../components/page.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { useAccountId } from '../../shell/account.ts'
import { alerts as say } from '../../strings/alerts.ts'
import { Incidents, incidentsOf } from './incidents.tsx'
import { CreateRule, Rules, rulesOf } from './rules.tsx'
import { readRules, UnsentRules, useUnsentRules } from './unsent.tsx'

const showsRules = ({ value }: ListAddress) => value('view') === 'rules'

export const readAhead = (accountId: string | undefined, address: ListAddress) =>
  Promise.all([
    readRules(),
    showsRules(address)
      ? readOnce('listAlertRules', rulesOf(accountId, address))
      : readOnce('listAlertIncidents', incidentsOf(accountId, address)),
  ])

/** Incidents of alert rules, the open ones first, and the rules. */
export function Component() {
  const accountId = useAccountId()
  const address = useAddress()
  const isRules = showsRules(address)
  const unsent = useUnsentRules(accountId)
  // They are above the list, which would move if they came later.
  if (!unsent) {
    return (
      <Page title={say.title} help={say.help} actions={<CreateRule />}>
        <Lines lines={8} />
      </Page>
    )
  }
  return (
    <Page title={say.title} help={say.help} actions={<CreateRule />}>
      <UnsentRules rules={unsent} />
      <Toolbar>
        <SegmentedControl
          aria-label={say.view}
          data={[
            { value: '', label: say.incidents },
            { value: 'rules', label: say.rules },
          ]}
          value={isRules ? 'rules' : ''}
          onChange={(view) => address.change({ view, show: '', ruleId: '', q: '' })}
        />
        {isRules ? (
          <SearchBox label={say.searchRules} />
        ) : (
          <SegmentedControl
            aria-label={say.show}
            data={[
              { value: '', label: say.open },
              { value: 'resolved', label: say.resolved },
            ]}
            value={address.value('show') === 'resolved' ? 'resolved' : ''}
            onChange={(show) => address.change({ show })}
          />
        )}
      </Toolbar>
      {isRules ? <Rules accountId={accountId} /> : <Incidents accountId={accountId} />}
    </Page>
  )
}
