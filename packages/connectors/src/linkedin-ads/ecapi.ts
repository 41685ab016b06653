import type { Ecapi } from '@penstock/connector'

/** How LinkedIn's Conversions API receives events of ECAPI. */
export const linkedinEcapi: Ecapi = {
  columns: {
    event_time: 'timestamp',
    event_id: 'id',
    value: 'value',
    currency: 'currency_code',
    email: 'user_data.email_address',
    li_fat_id: 'user_data.click_id',
    ip_address: 'user_data.event_ip_address',
    external_id: 'user_data.customer_identifier',
    first_name: 'user_data.address.first_name',
    last_name: 'user_data.address.last_name',
    country: 'user_data.address.country_code',
  },
  losses: {
    'user_data.ifa': 'LinkedIn accepts only advertising IDs of Android. Map them to google_aid.',
  },
}
